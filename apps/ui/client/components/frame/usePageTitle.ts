import { useEffect } from "react";
import { visibleText } from "../../model/lines/visibleText.ts";
import { t } from "../../strings.ts";

/** Names the page in the browser's title and history. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${visibleText(title.slice(0, 200))} · ${t.product}`;
  }, [title]);
}
