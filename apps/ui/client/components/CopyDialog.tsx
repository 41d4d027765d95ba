import type { Copy } from "../model/copies.ts";
import { t } from "../strings.ts";
import { Command } from "./Command.tsx";
import { Dialog } from "./Dialog.tsx";
import { Name } from "./Name.tsx";

export interface CopyDialogProps {
  /** What the row is about. */
  readonly about: string;
  readonly copies: readonly Copy[];
  close(): void;
}

/** What can be copied of a row: each text is seen before. */
export function CopyDialog({ about, copies, close }: CopyDialogProps) {
  return (
    <Dialog title={t.objects.copyMenu} close={close}>
      <p>
        <Name text={about} isWrapped />
      </p>
      <div className="copies">
        {copies.map(({ label, text }) => (
          <section key={label} aria-label={label}>
            <h3>{label}</h3>
            <Command text={text()} what={label} />
          </section>
        ))}
      </div>
    </Dialog>
  );
}
