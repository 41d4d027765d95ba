import { t } from "../strings.ts";
import { CopyButton } from "./CopyButton.tsx";
import { Name } from "./Name.tsx";

/** A command to paste, with a button that copies it. */
export function Command({ text, what = t.insights.command.toLowerCase() }: { readonly text: string; readonly what?: string }) {
  return (
    <div className="command">
      <code>
        <Name text={text} isWrapped />
      </code>
      <CopyButton text={text} what={what} />
    </div>
  );
}
