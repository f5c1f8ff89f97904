/** Puts the page into its document. */
import { render } from "preact";
import { App } from "./app.tsx";
import { watchConnection, whenThere } from "./session.ts";

// A server of another version has other files than those that this page names; one that is away has none until it is back.
addEventListener("vite:preloadError", () => void whenThere().then(() => location.reload()));

watchConnection();
render(<App />, document.getElementById("page") ?? document.body);
