import { accessEvaluator, type Translation } from "@isthmus/translators";
import { Link } from "@tanstack/react-router";
import { useId, useMemo } from "react";
import { Choices } from "../components/Choices.tsx";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { ScopeNote } from "../components/frame/ScopeNote.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { useScope } from "../components/frame/useScope.ts";
import { Loading } from "../components/Loading.tsx";
import { Section } from "../components/Section.tsx";
import { useTyped } from "../components/useTyped.ts";
import { Mesh } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { parseFilter, unknownKeyOf } from "../model/lines/tokens.ts";
import { t } from "../strings.ts";
import { Problems } from "../summaries/ObjectErrors.tsx";
import "../styles/access.css";
import { pastedObjects } from "../translation/pastedObjects.ts";
import { useFleetTranslation } from "../translation/useFleetTranslation.ts";
import { useWhatIf } from "../translation/useWhatIf.ts";
import { accessAxes, byNamespace, filteredAxes, MATRIX_KEYS, scopedAxes } from "./accessMatrix.ts";
import { ExplainAccess } from "./ExplainAccess.tsx";
import { MatrixTable } from "./MatrixTable.tsx";

const VIEWS = ["namespaces", "services"] as const;

/** Who may call whom, and why: now, or as it would be with policies that nobody has written. */
export function AccessPage() {
  const fleet = useFleet();
  const { viewer } = fleet;
  const [{ policy = "" }] = usePageSearch();
  const pasted = useMemo(() => pastedObjects(policy), [policy]);
  const base = useFleetTranslation();
  const proposed = useWhatIf(base, pasted.objects);
  const translation = pasted.objects.length > 0 ? proposed?.translation : base?.translation;
  const hasCilium = useMemo(() => [...fleet.snapshot.of(Mesh)].some(({ spec }) => spec?.cilium !== undefined), [fleet.snapshot]);
  return (
    <Page title={t.nav.access}>
      <p className="note">{t.access.why}</p>
      <p>
        <Link className="button" to="/access/cilium">
          {t.cilium.title}
        </Link>
      </p>
      {pasted.objects.length === 0 ? null : (
        <p className="note inline">
          {t.access.asIf(pasted.objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`).join(", "))}
          <Link to="/policies/what-if" search={{ policy }}>
            {t.access.edit}
          </Link>
          <Link to="/access">{t.access.now}</Link>
        </p>
      )}
      <Problems
        errors={pasted.problems}
        warnings={[
          ...(viewer?.isPartial === true ? [t.viewer.access] : []),
          ...(base === undefined || base.unlike === 0 ? [] : [t.effect.unlike(base.unlike)]),
          ...(hasCilium ? [t.access.cilium] : []),
        ]}
      />
      {translation === undefined ? <Loading /> : <Access translation={translation} />}
    </Page>
  );
}

function Access({ translation }: { readonly translation: Translation }) {
  const fleet = useFleet();
  const [{ view, q = "" }, change] = usePageSearch();
  const [text, type] = useTyped(q, (next) => change({ q: next }));
  const id = useId();
  const evaluator = useMemo(() => accessEvaluator(translation), [translation]);
  const axes = useMemo(() => accessAxes(fleet), [fleet]);
  const isByNamespace = view !== "services";
  const scope = useScope();
  const all = useMemo(() => (isByNamespace ? byNamespace(axes) : axes), [axes, isByNamespace]);
  const shown = useMemo(() => filteredAxes(scopedAxes(all, scope), parseFilter(q)), [all, q, scope]);
  const unknown = unknownKeyOf(parseFilter(q), MATRIX_KEYS);
  if (axes.columns.length === 0 || axes.rows.length === 0)
    return <Empty title={t.access.empty} how={t.workloads.emptyHow} command={t.workloads.emptyCommand} />;
  return (
    <div className="access-page">
      <ExplainAccess evaluator={evaluator} axes={axes} />
      <Section title={t.access.matrix}>
        <div className="access-bar">
          <Choices
            label={t.topology.view}
            choices={VIEWS}
            chosen={isByNamespace ? "namespaces" : "services"}
            textOf={(each) => t.access[each]}
            choose={(each) => change({ view: each === "services" ? each : undefined })}
          />
          <label htmlFor={id} className="visually-hidden">
            {t.table.filter}
          </label>
          <input
            id={id}
            className="input"
            type="search"
            value={text}
            spellCheck={false}
            autoComplete="off"
            placeholder={t.table.filterPlaceholder(MATRIX_KEYS)}
            onChange={({ currentTarget }) => type(currentTarget.value)}
          />
          <span className="count" role="status">
            {t.access.count(t.common.of(shown.rows.length, all.rows.length), t.common.of(shown.columns.length, all.columns.length))}
          </span>
        </div>
        {shown.rows.length === 0 || shown.columns.length === 0 ? (
          <Empty title={t.access.noMatch}>
            {unknown === undefined ? null : <p>{t.table.unknownKey(unknown, MATRIX_KEYS)}</p>}
            <button type="button" className="button" onClick={() => change({ q: undefined })}>
              {t.common.clear}
            </button>
            {scope.size === 0 ? null : <ScopeNote scope={scope} />}
          </Empty>
        ) : (
          <MatrixTable evaluator={evaluator} axes={shown} isByNamespace={isByNamespace} />
        )}
      </Section>
    </div>
  );
}
