/* use_width.js: the width of an element, as it changes. */
import { useEffect, useState } from "preact/hooks";

export function useWidth(ref) {
    const [width, setWidth] = useState(600);
    useEffect(() => {
        const watch = new ResizeObserver(([e]) => setWidth(Math.max(200, Math.floor(e.contentRect.width))));
        watch.observe(ref.current);
        return () => watch.disconnect();
    }, []);
    return width;
}
