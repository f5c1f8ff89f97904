/** Puts the page into its document. */
import { render } from "preact";
import { App } from "./app.tsx";
import { watchConnection } from "./session.ts";

// A server of another version has other files than those that this page names.
addEventListener("vite:preloadError", () => location.reload());

watchConnection();
render(<App />, document.getElementById("page") ?? document.body);
