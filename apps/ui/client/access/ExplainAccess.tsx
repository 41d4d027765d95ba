import { type ResourceRef, resourceKeyOf } from "@isthmus/core";
import type { AccessEvaluator, AccessQuery, Verdict } from "@isthmus/translators";
import { Link } from "@tanstack/react-router";
import { useId } from "react";
import { CopyButton } from "../components/CopyButton.tsx";
import { Facts } from "../components/Facts.tsx";
import { type PageSearch, usePageSearch } from "../components/frame/usePageSearch.ts";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { useTyped } from "../components/useTyped.ts";
import { visibleText } from "../model/lines/visibleText.ts";
import { t } from "../strings.ts";
import { type AccessAxes, callerOf } from "./accessMatrix.ts";
import { allowingPolicy, type NamedService } from "./allowingPolicy.ts";
import { nearCallers } from "./unknownCaller.ts";
import { verdictStatus } from "./verdictStatus.ts";

// More do not fit into a list that opens below a field.
const MOST_SUGGESTED = 500;
const MOST_NEAR = 8;

/** One question: may this caller call that? And what decides. */
export function ExplainAccess({ evaluator, axes }: { readonly evaluator: AccessEvaluator; readonly axes: AccessAxes }) {
  const [search] = usePageSearch();
  return (
    <Section title={t.access.explain} note={t.access.explainWhy}>
      <div className="access-question" role="group" aria-label={t.access.explain}>
        <Field member="from" label={t.access.from} hint={t.access.fromHint} suggested={axes.rows.map(({ name }) => name)} />
        <Field member="to" label={t.access.to} hint={t.access.toHint} suggested={axes.columns.map(({ name }) => name)} />
        <Field member="port" label={t.access.port} hint="9080" />
        <Field member="method" label={t.access.method} hint="GET" />
        <Field member="path" label={t.access.path} hint="/info" />
      </div>
      <div aria-live="polite">
        <Answer search={search} evaluator={evaluator} axes={axes} />
      </div>
    </Section>
  );
}

interface FieldProps {
  readonly member: "from" | "to" | "port" | "method" | "path";
  readonly label: string;
  readonly hint: string;
  readonly suggested?: readonly string[];
}

function Field({ member, label, hint, suggested = [] }: FieldProps) {
  const [search, change] = usePageSearch();
  const [text, type] = useTyped(search[member] ?? "", (next) => change({ [member]: next }));
  const id = useId();
  return (
    <div className="field" data-wide={suggested.length > 0}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        value={text}
        placeholder={hint}
        spellCheck={false}
        autoComplete="off"
        list={suggested.length === 0 ? undefined : `${id}-list`}
        onChange={({ currentTarget }) => type(currentTarget.value)}
      />
      {suggested.length === 0 ? null : (
        <datalist id={`${id}-list`}>
          {suggested.slice(0, MOST_SUGGESTED).map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </div>
  );
}

interface AnswerProps {
  readonly search: PageSearch;
  readonly evaluator: AccessEvaluator;
  readonly axes: AccessAxes;
}

function Answer({ search: { from = "", to = "", port = "", method = "", path = "" }, evaluator, axes }: AnswerProps) {
  if (from === "" && to === "") return <p className="muted">{t.access.ask}</p>;
  const caller = callerOf(from);
  if (caller === undefined) return <p className="muted">{t.access.noCaller}</p>;
  const [destination] = axes.columns.find(({ name }) => name === to)?.destinations ?? [];
  if (destination === undefined) return <p className="muted">{t.access.noTarget}</p>;
  const number = Number(port);
  if (port !== "" && !(Number.isInteger(number) && number >= 1 && number <= 65_535)) return <p className="muted">{t.access.noPort}</p>;
  const question: AccessQuery = {
    caller,
    ...(port === "" ? {} : { port: number }),
    ...(method === "" ? {} : { method: method.toUpperCase() }),
    ...(path === "" ? {} : { path }),
  };
  const answer = evaluator.verdict(destination, question);
  if (answer === undefined) return <p className="muted">{t.access.noAnswer}</p>;
  const { verdict, at, objects, policies, hasIdentity } = answer;
  // A misspelt name is not one that may call.
  if (!axes.rows.some(({ name }) => name === from)) return <UnknownCaller from={from} axes={axes} verdict={verdict} />;
  const service = serviceOf(to);
  return (
    <div className="access-answer">
      <p className="inline">
        <StatusMark status={verdictStatus(verdict)} />
        <span>{t.access.because[at]}</span>
      </p>
      <Facts
        rows={[
          [t.access.to, <ObjectLink key="to" to={destination} />],
          [t.access.objects, objects.length === 0 ? undefined : <Links key="objects" refs={objects} />],
          [t.access.policies, policies.length === 0 ? undefined : <Links key="policies" refs={policies} />],
          [t.access.identity, verdict === "UNREACHABLE" || hasIdentity ? undefined : t.access.nobody],
        ]}
      />
      {at === "NO_RULE" && verdict !== "ALLOWED" && hasIdentity ? <Allowing text={allowingPolicy(question, service)} /> : null}
    </div>
  );
}

/** The policy that would let the caller in, to copy, and what else it would do. */
function Allowing({ text }: { readonly text: string }) {
  return (
    <div className="stack access-allowing">
      <p className="inline">
        <span>{t.access.allowing}</span>
        <Link className="button small" to="/policies/what-if" search={{ policy: text }}>
          {t.whatIf.link}
        </Link>
      </p>
      <div className="command">
        <pre>{visibleText(text)}</pre>
        <CopyButton text={text} what={t.objects.copyYaml} />
      </div>
    </div>
  );
}

/** That nothing has this service account, and what has one like it. */
function UnknownCaller({ from, axes, verdict }: { readonly from: string; readonly axes: AccessAxes; readonly verdict: Verdict }) {
  const [, change] = usePageSearch();
  return (
    <div className="access-answer">
      <p className="inline">
        <StatusMark status={{ tone: "unknown", word: t.access.unknownCaller }} />
        <span>{t.access.unknownCallerWhy}</span>
      </p>
      <ul className="access-known" aria-label={t.access.knownCallers}>
        {nearCallers(axes, from, MOST_NEAR).map((name) => (
          <li key={name}>
            <button type="button" className="button small" onClick={() => change({ from: name })}>
              <Name text={name} />
            </button>
          </li>
        ))}
      </ul>
      <p className="note">{t.access.ifItWere(t.access.verdicts[verdict])}</p>
    </div>
  );
}

function serviceOf(to: string): NamedService {
  const [clusterName = "", namespace = "", name = ""] = to.split("/");
  return { clusterName, namespace, name };
}

function Links({ refs }: { readonly refs: readonly ResourceRef[] }) {
  return (
    <span className="stack">
      {refs.map((ref) => (
        <ObjectLink key={resourceKeyOf(ref)} to={ref} hasKind />
      ))}
    </span>
  );
}
