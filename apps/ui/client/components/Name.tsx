import { visibleText } from "../model/lines/visibleText.ts";

// More is in the title.
const LONGEST = 200;
const LONGEST_TITLE = 2_000;

export interface NameProps {
  readonly text: string;
  /** Lets a long text take several lines instead of being cut. */
  readonly isWrapped?: boolean;
  /** What more there is to it than is shown. */
  readonly title?: string;
}

/** A text of others: as text whatever it holds, apart from the direction of what is around it, cut where it is long. */
export function Name({ text, isWrapped = false, title = text }: NameProps) {
  const visible = cutText(text);
  const shown = !isWrapped && visible.length > LONGEST ? `${visible.slice(0, LONGEST)}…` : visible;
  return (
    <bdi className={isWrapped ? "name-wrapped" : "name"} title={isWrapped ? undefined : title === text ? visible : cutText(title)}>
      {shown}
    </bdi>
  );
}

function cutText(text: string): string {
  return visibleText(text.length > LONGEST_TITLE ? `${text.slice(0, LONGEST_TITLE)}…` : text);
}
