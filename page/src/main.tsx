/** Renders the page into its document. */
import { render } from "preact";
import { App } from "./app.tsx";
import { watchConnection, whenThere } from "./connection.ts";

// Reload the page if one of its scripts cannot be loaded. A server of another version has files with other names, and a
// server that is down has none until it returns.
addEventListener("vite:preloadError", () => void whenThere().then(() => location.reload()));

watchConnection();
const place = document.getElementById("page") ?? document.body;
place.replaceChildren();
render(<App />, place);
