import type { Resource } from "@isthmus/core";
import { copiesOf } from "../model/copies.ts";
import { t } from "../strings.ts";
import { Command } from "./Command.tsx";
import { Dialog } from "./Dialog.tsx";
import { Name } from "./Name.tsx";

/** What can be copied of a row's object: each text is seen before. */
export function CopyDialog({ object, close }: { readonly object: Resource; close(): void }) {
  const { namespace = "", name } = object.metadata;
  return (
    <Dialog title={t.objects.copyMenu} close={close}>
      <p>
        <Name text={`${object.kind} ${namespace === "" ? "" : `${namespace}/`}${name}`} isWrapped />
      </p>
      <div className="copies">
        {copiesOf(object, window.location.origin).map(({ label, text }) => (
          <section key={label} aria-label={label}>
            <h3>{label}</h3>
            <Command text={text()} what={label} />
          </section>
        ))}
      </div>
    </Dialog>
  );
}
