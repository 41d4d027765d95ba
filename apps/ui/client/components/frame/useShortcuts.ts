import { useNavigate } from "@tanstack/react-router";
import { useLayoutEffect, useRef } from "react";
import { isTyping } from "../isTyping.ts";
import { PAGES } from "./pageList.ts";

export interface Shortcuts {
  openSearch(): void;
  openKeys(): void;
  openScope(): void;
  /** Pauses live updates, or resumes them. */
  pause(): void;
}

// As long as two keys of one thought are apart.
const PAIR_MS = 1_200;

/** The keys that work on each page: `/` and Ctrl K, `?`, `s`, `p`, `g` and a page's letter. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const navigate = useNavigate();
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const pressedG = useRef(0);
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if ((ctrlKey || metaKey) && key.toLowerCase() === "k") {
        event.preventDefault();
        latest.current.openSearch();
        return;
      }
      if (ctrlKey || metaKey || altKey || isTyping(event)) return;
      const page = Date.now() - pressedG.current < PAIR_MS ? PAGES.find(({ letter }) => letter === key) : undefined;
      pressedG.current = key === "g" ? Date.now() : 0;
      if (page !== undefined) {
        event.preventDefault();
        void navigate({ to: page.path });
      } else if (key === "/") {
        event.preventDefault();
        latest.current.openSearch();
      } else if (key === "?") {
        latest.current.openKeys();
      } else if (key === "s") {
        event.preventDefault();
        latest.current.openScope();
      } else if (key === "p") {
        latest.current.pause();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate]);
}
