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
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** Closes the dialog that a button stands in, as Escape does: the focus goes back to what it was opened by. */
export function leaveDialog({ currentTarget }: Event): void {
  if (currentTarget instanceof Element) currentTarget.closest("dialog")?.close();
}
