import { useCallback, useRef, useState } from "react";

/** The width of an element in pixels, as it changes; undefined until it is known. The first value is for the element's `ref`. */
export function useWidth(): readonly [(element: HTMLElement | null) => void, number | undefined] {
  const [width, setWidth] = useState<number>();
  const observer = useRef<ResizeObserver>(undefined);
  const frame = useCallback((element: HTMLElement | null): void => {
    observer.current?.disconnect();
    if (element === null) return;
    // Before the page is painted, so that no column is seen to go.
    setWidth(element.clientWidth);
    observer.current = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.current.observe(element);
  }, []);
  return [frame, width];
}
