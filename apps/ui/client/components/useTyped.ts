import { useEffect, useRef, useState } from "react";

/** The text of a field whose value is in the address, which follows a moment later: what is typed meanwhile stays. */
export function useTyped(value: string, change: (next: string) => void): readonly [string, (next: string) => void] {
  const [text, setText] = useState(value);
  // What was typed and is not in the address yet, in order.
  const sent = useRef<readonly string[]>([]);
  useEffect(() => {
    const at = sent.current.indexOf(value);
    sent.current = at < 0 ? [] : sent.current.slice(at + 1);
    // Somebody else changed the address: a link, or the button that clears.
    if (at < 0) setText(value);
  }, [value]);
  const type = (next: string): void => {
    setText(next);
    if (next !== value || sent.current.length > 0) sent.current = [...sent.current, next];
    change(next);
  };
  return [text, type];
}
