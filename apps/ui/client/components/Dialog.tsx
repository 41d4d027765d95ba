import { type ReactNode, useLayoutEffect, useRef } from "react";
import { t } from "../strings.ts";

export interface DialogProps {
  readonly title: string;
  close(): void;
  readonly children: ReactNode;
}

/** A modal dialog of the browser's own: it focuses what has `data-first`, keeps the focus, closes on Escape, and gives the focus back. */
export function Dialog({ title, close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => element?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it by keyboard
    <dialog
      ref={dialog}
      className="dialog"
      aria-label={title}
      onClose={close}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget) close();
      }}
    >
      <div className="dialog-content">
        <div className="dialog-head">
          <h2>{title}</h2>
          <button type="button" className="button small" onClick={close}>
            {t.common.close}
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
