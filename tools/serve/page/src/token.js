/* token.js: the server prints its address with #token=… behind it. A fragment is never sent, so the token reaches the page alone; it
 * is kept for this tab and its duplicates (sessionStorage) and taken out of the address, which people copy. */
const KEY = "rvm.token";

export function takeToken() {
    const match = /(?:^#|&)token=([^&]+)&?/.exec(location.hash);
    if (match) {
        sessionStorage.setItem(KEY, decodeURIComponent(match[1]));
        const rest = location.hash.replace(match[0], "#").replace(/^#$/, "");
        history.replaceState(null, "", location.pathname + location.search + rest);
    }
    return token();
}

export const token = () => sessionStorage.getItem(KEY);
export const setToken = (value) => sessionStorage.setItem(KEY, value);
