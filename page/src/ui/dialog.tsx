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
  // Call onClose at once instead of waiting for the browser's close event. A key that is pressed in between could ask
  // to open the same dialog, which would still count as open.
  const leave = (event: Event) => {
    event.preventDefault();
    dialog.current?.close();
    onClose();
  };
  return (
    // Handle the close event too: a browser may close the dialog without a cancel event if there was no key or click
    // since the last cancel event. The close event that follows `leave` is ignored.
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
