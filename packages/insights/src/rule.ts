import { type Index, type Kind, type Resource, type ResourceRef, refOf, type Snapshot } from "@isthmus/core";
import { networkingOwner, type Translation } from "@isthmus/translators";
import { type Derived, derived, inputKind, type Join, type JoinSource, join, reuseIfEqual } from "@isthmus/translators/incremental";
import { CATALOGUE, type RuleCode } from "./catalogue/catalogue.ts";
import { categoryOf, editCommand, type Insight, type Remedy } from "./insight.ts";

/** What every rule reads. */
export interface RuleContext {
  /** Namespace of the management plane. */
  readonly namespace: string;
}

/** The same, for rules that read the time. */
export interface TimedContext extends RuleContext {
  /** Milliseconds since 1970, whole hours. */
  readonly hour: number;
}

/** The tables that rules look up in. */
export interface InsightTables {
  /** As translation leaves it: with what is in force in the statuses of Destinations and Meshes. */
  readonly inputs: Snapshot;
  readonly translation: Translation;
  readonly context: RuleContext;
  readonly timed: TimedContext;
}

/** The insights that one row of a table gives. */
export interface InsightRow {
  /** That of the row. */
  readonly key: string;
  readonly insights: readonly Insight[];
  /** What the rule threw on the object: then nothing is found of it. */
  readonly error?: unknown;
}

/** One thing that a rule finds. */
export interface RuleFinding {
  /** Path of the member; default the object. */
  readonly field?: string;
  readonly message: string;
  /** Default: an editor for the object. A text alone gets that command. */
  readonly remedy: Remedy | string;
  readonly nearMiss?: string | undefined;
}

/** Objects of a kind that a rule looks up, or a part of each. */
export interface Lookup<R extends Resource, V> {
  readonly kind: Kind;
  /** By way of which others they are found. */
  readonly through?: readonly Kind[];
  /** The rule can do without them: it then finds less, and nothing that is not so. */
  readonly isOptional?: true;
  joinFrom(from: JoinSource<InsightTables, R, R>): Join<InsightTables, R, V>;
}

/** Looks up the objects that have one of the values of `key` in `index`; without `index`, by their keys. Both at module level. */
export function lookUp<R extends Resource, T extends Resource>(
  kind: Kind<T>,
  { key, index }: { readonly key: Index<R>; readonly index?: Index<T> },
): Lookup<R, T> {
  return {
    kind,
    joinFrom: (from) => join({ from, to: inputKind<InsightTables, T>(kind), key, ...(index === undefined ? {} : { index }) }),
  };
}

/** Objects without which a rule finds less, and nothing that is not so. */
export function ifKnown<R extends Resource, V>(lookup: Lookup<R, V>): Lookup<R, V> {
  return { ...lookup, isOptional: true };
}

/** The same, of each object a part: a change of the rest of it is none. */
export function lookUpPart<R extends Resource, T extends Resource, V>(
  kind: Kind<T>,
  { key, index, select }: { readonly key: Index<R>; readonly index: Index<T>; readonly select: (object: T) => V },
): Lookup<R, V> {
  return { kind, joinFrom: (from) => join({ from, to: inputKind<InsightTables, T>(kind), key, index, select }) };
}

/** What a rule may read beside its object: nothing that is not declared. */
export interface RuleReading<J> {
  lookup<N extends keyof J>(name: N): J[N] extends { joinFrom(from: never): Join<never, never, infer T> } ? readonly T[] : never;
  readonly context: TimedContext;
}

interface RuleOptions<R extends Resource, J> {
  /** Its texts and severity are in the catalogue. */
  readonly code: RuleCode;
  /** One finding is about one object of this kind. */
  readonly of: Kind<R>;
  readonly reads: J;
  /** The rule reads the hour: it is asked again for every object when that changes. */
  readonly readsTime?: true;
  /** The management plane writes these objects itself, and their status is what the agent makes of them. */
  readonly judgesOurs?: true;
  find(object: R, reading: RuleReading<J>): Iterable<RuleFinding>;
}

/** A rule as the engine runs it. */
export interface Rule {
  readonly code: RuleCode;
  /** The kind of the objects that it judges. Rows have the keys of these. */
  readonly of: Kind;
  /** The kinds without a change of which it is not asked again. */
  readonly reads: readonly Kind[];
  /** Those of them of which all objects must be known. */
  readonly needs: readonly Kind[];
  readonly rows: Derived<InsightTables, InsightRow>;
}

/** Declares a rule. Objects that the management plane itself has written are left out, but for `judgesOurs`: they follow from others. */
export function defineRule<R extends Resource, J extends Readonly<Record<string, Lookup<R, unknown>>>>(options: RuleOptions<R, J>): Rule {
  const { code, of, reads, readsTime, judgesOurs, find } = options;
  const from = inputKind<InsightTables, R>(of);
  const { rule: severity } = CATALOGUE[code].severity;
  const joins: Record<string, Join<InsightTables, R, unknown>> = {};
  for (const [name, lookup] of Object.entries(reads)) joins[name] = lookup.joinFrom(from);
  return {
    code,
    of,
    reads: kindsOf(of, Object.values(reads)),
    needs: kindsOf(
      of,
      Object.values(reads).filter(({ isOptional }) => isOptional !== true),
    ),
    rows: derived({
      from,
      context: ({ context, timed }): RuleContext | TimedContext => (readsTime ? timed : context),
      joins,
      make: (object, { key, lookup, context, before }) => {
        if (judgesOurs !== true && object.metadata.labels?.[OWNER_LABEL] !== undefined) return undefined;
        const reading: RuleReading<J> = {
          // `J` types what each name finds.
          lookup: (name) => lookup(name as string) as never,
          context: { hour: Number.NaN, ...context },
        };
        const insights = [...find(object, reading)].map((finding) => insightOf(refOf(object), { code, severity }, finding));
        return insights.length === 0 ? undefined : reuseIfEqual({ key, insights }, before);
      },
      fault: (_, key, error) => ({ key, insights: [], error }),
    }),
  };
}

function kindsOf(of: Kind, lookups: readonly Pick<Lookup<never, unknown>, "kind" | "through">[]): readonly Kind[] {
  return [...new Set([of, ...lookups.flatMap(({ kind, through = [] }) => [...through, kind])])];
}

const OWNER_LABEL = networkingOwner("").label;

function insightOf(
  object: ResourceRef,
  { code, severity }: Pick<Insight, "code" | "severity">,
  { field = "", message, remedy, nearMiss }: RuleFinding,
): Insight {
  return {
    code,
    category: categoryOf(code),
    severity,
    object,
    cluster: object.clusterName,
    field,
    message,
    remedy: typeof remedy === "string" ? { text: remedy, command: editCommand(object) } : remedy,
    ...(nearMiss === undefined ? {} : { nearMiss }),
  };
}
