import { type ReactNode, useId } from "react";

export interface SectionProps {
  readonly title: string;
  readonly note?: string | undefined;
  readonly children: ReactNode;
}

/** A part of a page with its title. */
export function Section({ title, note, children }: SectionProps) {
  const id = useId();
  return (
    <section className="section" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {note === undefined ? null : <p className="note">{note}</p>}
      {children}
    </section>
  );
}
