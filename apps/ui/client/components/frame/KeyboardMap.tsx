import { t } from "../../strings.ts";
import { Dialog } from "../Dialog.tsx";

/** All keys of the console. */
export function KeyboardMap({ close }: { close(): void }) {
  return (
    <Dialog title={t.keys.title} close={close}>
      <dl className="keys">
        {t.keys.rows.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
