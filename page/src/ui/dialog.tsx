/** Modal dialog. */
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
  // Close at once: the browser's close event comes later than a key pressed right after, which could open a dialog
  // that still counts as open.
  const leave = (event: Event) => {
    event.preventDefault();
    dialog.current?.close();
    onClose();
  };
  return (
    // A browser may close the dialog without a cancel event if there was no key or click in between. After `leave`,
    // its close event is ignored.
    <dialog ref={dialog} aria-label={title} onCancel={leave} onClose={() => dialog.current !== null && onClose()}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/**
 * Closes the dialog that contains a button, as Escape does. The focus returns to the element that opened the dialog.
 */
export function leaveDialog({ currentTarget }: Event): void {
  if (currentTarget instanceof Element) currentTarget.closest("dialog")?.dispatchEvent(new Event("cancel"));
}
