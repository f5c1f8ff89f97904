/** What a reader has come to see. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Whether an element was in sight: what stands in it need not be asked for before. */
export function useSeen<Kind extends Element>(): { readonly place: RefObject<Kind>; readonly seen: boolean } {
  const place = useRef<Kind>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null || seen) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [seen]);
  return { place, seen };
}
