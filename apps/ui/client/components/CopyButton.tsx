import { useEffect, useRef, useState } from "react";
import { t } from "../strings.ts";

export interface CopyButtonProps {
  readonly text: string;
  /** What is copied, in words: `command`. */
  readonly what: string;
}

// As long as a glance takes.
const COPIED_MS = 1_600;

/** Copies a text, and says so for a moment. */
export function CopyButton({ text, what }: CopyButtonProps) {
  const { isCopied, copy } = useCopy();
  return (
    <button type="button" className="button small" onClick={() => void copy(text)} aria-label={t.common.copyOf(what)}>
      <span aria-live="polite">{isCopied ? t.common.copied : t.common.copy}</span>
    </button>
  );
}

/** A function that copies, and whether it has done so just now. */
export function useCopy(): { readonly isCopied: boolean; copy(text: string): Promise<void> } {
  const [isCopied, setIsCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    isCopied,
    async copy(text) {
      await writeClipboard(text);
      setIsCopied(true);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setIsCopied(false), COPIED_MS);
    },
  };
}

/** The clipboard of a page that is not served over TLS or from loopback is reached only by a selection. */
async function writeClipboard(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
