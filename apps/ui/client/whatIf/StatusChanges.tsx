import { fullKeyOf, type Resource, refOf } from "@isthmus/core";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { approvalStatus } from "../model/status.ts";
import { t } from "../strings.ts";
import { ObjectErrors, Problems } from "../summaries/ObjectErrors.tsx";
import { Targets } from "../summaries/Targets.tsx";
import type { StatusChange } from "../translation/whatIf.ts";

interface WithStatus extends Resource {
  readonly status?: {
    readonly state?: string;
    readonly warnings?: readonly string[];
    readonly errors?: readonly string[];
    readonly destinations?: Readonly<Record<string, TargetStatus>>;
    readonly meshes?: Readonly<Record<string, TargetStatus>>;
  };
}

interface TargetStatus {
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
}

/** Each policy that was pasted: whether it would be in force, and on which targets. */
export function ProposedPolicies({ proposed }: { readonly proposed: readonly StatusChange[] }) {
  return proposed.map(({ before, after }) => (
    <Section
      key={fullKeyOf(after)}
      title={`${after.kind} ${after.metadata.namespace ?? ""}/${after.metadata.name}`}
      note={before === undefined ? t.whatIf.isNew : t.whatIf.replaces}
    >
      <p className="inline">
        {t.whatIf.wouldBe} <State policy={after} />
      </p>
      <ObjectErrors object={after} />
      <Targets policy={after} />
    </Section>
  ));
}

/** Other policies that would not stand as they do. */
export function OtherPolicies({ others }: { readonly others: readonly StatusChange[] }) {
  return (
    <Section title={`${t.whatIf.others} · ${others.length}`} note={others.length === 0 ? t.whatIf.othersNone : t.whatIf.othersWhy}>
      <ul className="links">
        {others.map(({ before, after }) => (
          <li key={fullKeyOf(after)} className="stack">
            <span className="inline">
              <ObjectLink to={refOf(after)} hasKind />
              {before === undefined ? null : <State policy={before} />} <span aria-hidden="true">→</span>
              <span className="visually-hidden">{t.whatIf.arrow}</span> <State policy={after} />
            </span>
            <Problems errors={newTexts(before, after, "errors")} warnings={newTexts(before, after, "warnings")} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function State({ policy }: { readonly policy: Resource }) {
  const { state = "PENDING", warnings = [] } = (policy as WithStatus).status ?? {};
  return <StatusMark status={approvalStatus(state, warnings.length)} />;
}

/** What a status says that the one before did not, of the object or of any target. */
function newTexts(before: Resource | undefined, after: Resource, member: "errors" | "warnings"): readonly string[] {
  const known = new Set(before === undefined ? [] : textsOf(before, member));
  return [...new Set(textsOf(after, member))].filter((text) => !known.has(text));
}

function textsOf(policy: Resource, member: "errors" | "warnings"): readonly string[] {
  const { status = {} } = policy as WithStatus;
  const ofTargets = [...Object.values(status.destinations ?? {}), ...Object.values(status.meshes ?? {})];
  return [...(status[member] ?? []), ...ofTargets.flatMap((target) => target[member] ?? [])];
}
