/** Moves the focus to a new view's heading, so that people who cannot see the change notice it. */
import { useEffect, useRef } from "preact/hooks";

let awaited = false;

/** Focuses the heading after a change of address, now or as soon as it is rendered. */
export function arrive(main: HTMLElement | null): void {
  const heading = main?.querySelector("h1");
  awaited = !heading;
  heading?.focus();
}

/** Returns the `ref` of a view's heading. */
export function useArrival(): { current: HTMLHeadingElement | null } {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!awaited) return;
    awaited = false;
    heading.current?.focus();
  }, []);
  return heading;
}
