/** A question that is answered before anything else is done. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  // At once: the browser's own word that it is closed comes later than a key that was pressed right after, which would open
  // what is not yet known to be closed.
  const leave = (event: Event) => {
    event.preventDefault();
    dialog.current?.close();
    onClose();
  };
  return (
    // Without a key or a click in between a browser closes it and asks nobody; of one that was left it says nothing new.
    <dialog ref={dialog} aria-label={title} onCancel={leave} onClose={() => dialog.current !== null && onClose()}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** Leaves the dialog that a button stands in, as Escape does: the focus goes back to what it was opened by. */
export function leaveDialog({ currentTarget }: Event): void {
  if (currentTarget instanceof Element) currentTarget.closest("dialog")?.dispatchEvent(new Event("cancel"));
}
