/** Who cannot see that the view changed is told by where the focus is: on the heading of the new one, once that is there. */
import { useEffect, useRef } from "preact/hooks";

let awaited = false;

/** The address is another: its heading takes the focus, now or when it comes. */
export function arrive(main: HTMLElement | null): void {
  const heading = main?.querySelector("h1");
  awaited = !heading;
  heading?.focus();
}

/** For the `ref` of a view's heading. */
export function useArrival(): { current: HTMLHeadingElement | null } {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!awaited) return;
    awaited = false;
    heading.current?.focus();
  }, []);
  return heading;
}
