import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useId, useMemo, useState } from "react";
import { useFleet } from "../../data/store.ts";
import { type Hit, searchFleet } from "../../model/searchFleet.ts";
import { t } from "../../strings.ts";
import { Dialog } from "../Dialog.tsx";
import { Name } from "../Name.tsx";
import { ClusterChip } from "../ObjectLink.tsx";

/** Jumps to any object, policy or insight code by its name. */
export function SearchDialog({ close }: { close(): void }) {
  const fleet = useFleet();
  const navigate = useNavigate();
  const id = useId();
  const [text, setText] = useState("");
  const [selected, setSelected] = useState(0);
  const searched = useDeferredValue(text);
  const hits = useMemo(() => searchFleet(fleet, searched), [fleet, searched]);
  const current = Math.min(selected, hits.length - 1);

  const open = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    close();
    void navigate({ href: hit.path });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setSelected(Math.max(0, Math.min(hits.length - 1, current + step)));
    } else if (event.key === "Enter") {
      // The list may still be that of what was typed before.
      open(searched === text ? hits[current] : searchFleet(fleet, text)[0]);
    }
  };
  return (
    <Dialog title={t.search.label} close={close}>
      <input
        className="input"
        role="combobox"
        aria-expanded={hits.length > 0}
        aria-controls={id}
        aria-activedescendant={hits.length > 0 ? `${id}-${current}` : undefined}
        aria-label={t.search.label}
        placeholder={t.search.placeholder}
        value={text}
        data-first
        autoComplete="off"
        spellCheck={false}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setSelected(0);
        }}
        onKeyDown={onKeyDown}
      />
      <p className="note" role="status">
        {text.trim().length < 2 ? t.search.hint : hits.length === 0 ? t.search.none : t.search.results(hits.length)}
      </p>
      <div id={id} role="listbox" className="hits" aria-label={t.search.label}>
        {hits.map((hit, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field opens it
          <div key={hit.path} id={`${id}-${i}`} role="option" aria-selected={i === current} onClick={() => open(hit)}>
            <span className="kind">{hit.kind}</span>
            <Name text={hit.name} />
            {hit.cluster === "" ? null : <ClusterChip name={hit.cluster} />}
          </div>
        ))}
      </div>
    </Dialog>
  );
}
