/** Detects which elements a reader has scrolled to. */
import { useEffect, useRef, useState } from "preact/hooks";

/**
 * Returns whether an element has been in sight, or nearly, so that its content is loaded only when needed. `place` is
 * for the element's `ref`.
 */
export function useSeen<Kind extends Element>(): { readonly place: { current: Kind | null }; readonly seen: boolean } {
  const place = useRef<Kind | null>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null || seen) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: "200px" },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [seen]);
  return { place, seen };
}
