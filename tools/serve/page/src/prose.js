/* prose.js: messages, in which `names` are code. */
import { html } from "htm/preact";

export const Prose = ({ text }) => text.split("`").map((part, k) => (k % 2 ? html`<code>${part}</code>` : part));
