import { useId, useState } from "react";
import { useFleet } from "../../data/store.ts";
import { clusterNames, scopeText } from "../../model/scope.ts";
import { t } from "../../strings.ts";
import { Dialog } from "../Dialog.tsx";
import { Name } from "../Name.tsx";
import { usePageSearch } from "./usePageSearch.ts";
import { useScope } from "./useScope.ts";

// Beside the search and the clock there is no room for more.
const MOST_CHIPS = 2;

/** The clusters to which all lists keep, and the way to choose others; nothing where there is only one cluster. */
export function ScopeChips({ open }: { open(): void }) {
  const fleet = useFleet();
  const scope = useScope();
  const [, change] = usePageSearch();
  const names = clusterNames(fleet);
  if (names.length < 2 && scope.size === 0) return null;
  const chosen = [...scope];
  return (
    <div className="scope" role="group" aria-label={t.scope.label}>
      {chosen.slice(0, MOST_CHIPS).map((name) => (
        <button
          key={name}
          type="button"
          className="chip scope-chip"
          aria-label={t.scope.without(name)}
          onClick={() => change({ scope: scopeText(chosen.filter((each) => each !== name)) })}
        >
          <Name text={name} />
          <span aria-hidden="true">×</span>
        </button>
      ))}
      <button type="button" className="button small" onClick={open}>
        {chosen.length === 0 ? t.scope.all : t.scope.some(chosen.length, names.length)}
      </button>
    </div>
  );
}

/** A list of all clusters, of which each can be chosen; what is chosen holds at once. */
export function ScopeDialog({ close }: { close(): void }) {
  const fleet = useFleet();
  const scope = useScope();
  const [, change] = usePageSearch();
  const [text, setText] = useState("");
  const id = useId();
  const known = clusterNames(fleet);
  const names = [...known, ...[...scope].filter((name) => !known.includes(name))];
  const shown = names.filter((name) => name.toLowerCase().includes(text.trim().toLowerCase()));
  const choose = (name: string, isChosen: boolean) =>
    change({ scope: scopeText(names.filter((each) => (each === name ? isChosen : scope.has(each)))) });
  return (
    <Dialog title={t.scope.title} close={close}>
      <p className="note" id={`${id}-why`}>
        {t.scope.why}
      </p>
      <input
        className="input"
        type="search"
        data-first
        aria-label={t.scope.filter}
        placeholder={t.scope.filter}
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <ul className="scope-list" aria-describedby={`${id}-why`}>
        {shown.map((name, i) => (
          <li key={name}>
            <input
              id={`${id}-${i}`}
              type="checkbox"
              checked={scope.has(name)}
              onChange={({ currentTarget }) => choose(name, currentTarget.checked)}
            />
            <label htmlFor={`${id}-${i}`}>
              <Name text={name} /> {known.includes(name) ? null : <span className="muted">{t.scope.unknown}</span>}
            </label>
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p className="muted">{t.scope.none}</p> : null}
      <button type="button" className="button" disabled={scope.size === 0} onClick={() => change({ scope: undefined })}>
        {t.scope.clear}
      </button>
    </Dialog>
  );
}
