/** Dialog that asks for the token. The token is kept as long as the tab is open. */
import { useEffect, useRef, useState } from "preact/hooks";
import { giveToken, tokenWanted } from "../connection.ts";

export function TokenDialog() {
  const wanted = tokenWanted.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  useEffect(() => {
    if (wanted === undefined) dialog.current?.close();
    else if (dialog.current?.open === false) dialog.current.showModal();
  }, [wanted]);
  const give = (event: Event) => {
    event.preventDefault();
    giveToken(text);
    setText("");
  };
  // Reopen the dialog if the browser closes it after a second attempt to leave. Without a token the page has nothing
  // to show.
  const stay = () => {
    if (tokenWanted.peek() !== undefined && dialog.current?.open === false) dialog.current.showModal();
  };
  return (
    <dialog ref={dialog} aria-labelledby="token-title" onCancel={(event) => event.preventDefault()} onClose={stay}>
      <form onSubmit={give}>
        <h2 id="token-title">{wanted?.refused ? "The server refused the token" : "This server asks for a token"}</h2>
        <p class={wanted?.refused ? "effect poor" : "note"}>{wanted?.why}</p>
        <label class="field">
          <span>Token</span>
          <input
            type="password"
            autocomplete="off"
            required
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <p class="note">It is kept for this tab alone, until the tab is closed.</p>
        <div class="actions">
          <button type="submit" class="main">
            Use it
          </button>
        </div>
      </form>
    </dialog>
  );
}
