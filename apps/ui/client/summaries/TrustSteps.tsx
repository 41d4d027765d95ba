import type { TrustProgressStatus } from "@isthmus/api";
import type { ReactNode } from "react";
import { Name } from "../components/Name.tsx";
import { StatusMark, ToneShape } from "../components/StatusMark.tsx";
import { type Status, titled } from "../model/status.ts";
import { t } from "../strings.ts";

const TRUST_TONES: ReadonlyMap<string, Status["tone"]> = new Map([
  ["FINISHED", "good"],
  ["FAILED", "bad"],
  ["PENDING", "unknown"],
]);

/** In the order in which a mesh takes them: docs/decisions/0058. */
const STEPS = ["TRUST_BOTH", "REISSUE", "RETIRE"] as const;

/** How far a mesh is with the root of its VirtualMesh. What is waited for has `trustSentences`. */
export function TrustState({ trust }: { readonly trust: TrustProgressStatus | undefined }) {
  if (trust === undefined) return <span className="muted">{t.meshes.notShared}</span>;
  const { state = "PENDING", step } = trust;
  return (
    <span className="stack">
      <StatusMark status={{ tone: TRUST_TONES.get(state) ?? "progress", word: titled(state) }} />
      {step === undefined || step === "KEEP" ? null : <span>{`${t.meshes.step}: ${titled(step)}`}</span>}
    </span>
  );
}

/** Sentences, one below the other; undefined: there are none. */
export function sentenceList(sentences: readonly string[]): ReactNode {
  if (sentences.length === 0) return undefined;
  return (
    <span className="stack">
      {sentences.map((sentence) => (
        <Name key={sentence} text={sentence} isWrapped />
      ))}
    </span>
  );
}

/** The steps of a rotation in their order: what is done, what is under way, what comes. */
export function TrustSteps({ trust }: { readonly trust: TrustProgressStatus | undefined }) {
  const { state = "PENDING", step } = trust ?? {};
  const current = (STEPS as readonly (string | undefined)[]).indexOf(step);
  const isDone = (i: number) => state === "FINISHED" || (current >= 0 && i < current);
  return (
    <ol className="steps" aria-label={t.certificates.steps}>
      {STEPS.map((one, i) => {
        const tone = isDone(i) ? "good" : i !== current ? "unknown" : state === "FAILED" ? "bad" : "progress";
        const word = isDone(i) ? t.certificates.done : i !== current ? t.certificates.ahead : t.certificates.underWay;
        return (
          <li key={one} className="status" data-tone={tone} aria-current={i === current && !isDone(i) ? "step" : undefined}>
            <ToneShape tone={tone} />
            <span>{`${titled(one)}: ${word}`}</span>
          </li>
        );
      })}
    </ol>
  );
}
