import type { ReactNode } from "react";
import { Command } from "./Command.tsx";
import { PartialNote } from "./PartialNote.tsx";

export interface EmptyProps {
  readonly title: string;
  readonly how?: string;
  readonly command?: string;
  /** Whether it is all of the page. */
  readonly isPage?: boolean;
  readonly children?: ReactNode;
}

/** Why there is nothing here, and the one command that fills it. */
export function Empty({ title, how, command, isPage = false, children }: EmptyProps) {
  return (
    <div className="empty">
      {isPage ? <h1 className="empty-title">{title}</h1> : <p className="empty-title">{title}</p>}
      {how === undefined ? null : <p>{how}</p>}
      {command === undefined ? null : <Command text={command} />}
      {children}
      <PartialNote text="empty" />
    </div>
  );
}
