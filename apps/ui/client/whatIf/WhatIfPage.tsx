import { type Resource, refOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { Loading } from "../components/Loading.tsx";
import { ObjectLink, objectOf } from "../components/ObjectLink.tsx";
import { PartialNote } from "../components/PartialNote.tsx";
import type { Fleet } from "../data/fleet.ts";
import { Destination, TrafficPolicy } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { yamlText } from "../model/lines/yamlLines.ts";
import { refOfPath } from "../model/objectPath.ts";
import { t } from "../strings.ts";
import { Problems } from "../summaries/ObjectErrors.tsx";
import "../styles/whatIf.css";
import { OutputChanges } from "../effect/OutputChanges.tsx";
import { LONGEST_PASTE, pastedObjects } from "../translation/pastedObjects.ts";
import { useFleetTranslation } from "../translation/useFleetTranslation.ts";
import { useWhatIf } from "../translation/useWhatIf.ts";
import type { OutputChange } from "../translation/whatIf.ts";
import { OtherPolicies, ProposedPolicies } from "./StatusChanges.tsx";

// Longer texts are not in the address: servers and chats cut it.
const LONGEST_IN_ADDRESS = 6_000;
// As long as a pause between two words.
const TYPED_MS = 350;

/** What would follow from policies that nobody has written yet: pasted here, translated here, written nowhere. */
export function WhatIfPage() {
  const fleet = useFleet();
  const [{ policy, of }, change] = usePageSearch();
  const id = useId();
  const original = useMemo(() => originalOf(fleet, of), [fleet, of]);
  const [typed, setTyped] = useState<string>();
  const text = typed ?? policy ?? (original === undefined ? "" : editable(original));
  const [read, setRead] = useState(text);
  const sent = useRef(policy);
  useEffect(() => {
    const timer = setTimeout(() => setRead(text), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    if (typed === undefined) return;
    const timer = setTimeout(() => {
      sent.current = typed.length > LONGEST_IN_ADDRESS || typed === "" ? undefined : typed;
      change({ policy: sent.current });
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed, change]);
  useEffect(() => {
    // Somebody else changed the address: a link, or the way back.
    if (policy === sent.current) return;
    sent.current = policy;
    setTyped(undefined);
  }, [policy]);

  const pasted = useMemo(() => pastedObjects(read), [read]);
  const base = useFleetTranslation();
  const result = useWhatIf(base, pasted.objects);
  return (
    <Page title={t.whatIf.title}>
      <p className="note">{t.whatIf.why}</p>
      {original === undefined ? null : (
        <p className="note inline">
          {t.whatIf.copyOf} <ObjectLink to={refOf(original)} hasKind />
        </p>
      )}
      <div className="what-if-editor">
        <label htmlFor={id}>{t.whatIf.label}</label>
        <textarea
          id={id}
          className="input code"
          rows={14}
          spellCheck={false}
          autoComplete="off"
          maxLength={LONGEST_PASTE}
          value={text}
          placeholder={t.whatIf.placeholder}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <p className="note">{text.length > LONGEST_IN_ADDRESS ? t.whatIf.notInAddress : t.whatIf.inAddress}</p>
      </div>
      <Problems errors={pasted.problems} />
      {base === undefined ? (
        <Loading />
      ) : (
        <div className="what-if-result" aria-live="polite">
          {base.unlike === 0 ? null : <Problems warnings={[t.whatIf.unlike(base.unlike)]} />}
          <PartialNote text="translated" />
          {pasted.objects.length === 0 && pasted.problems.length > 0 ? (
            <p className="muted">{t.whatIf.notRead}</p>
          ) : pasted.objects.length === 0 ? (
            <Empty title={t.whatIf.empty} how={t.whatIf.emptyHow}>
              <button type="button" className="button" onClick={() => setTyped(examplePolicy(fleet))}>
                {t.whatIf.example}
              </button>
              <Link className="button" to="/policies">
                {t.nav.policies}
              </Link>
            </Empty>
          ) : result === undefined ? (
            <Loading />
          ) : (
            <>
              <ProposedPolicies proposed={result.proposed} />
              {text.length <= LONGEST_IN_ADDRESS && result.outputs.some(isAboutAccess) ? (
                <p>
                  <Link className="button" to="/access" search={{ policy: text }}>
                    {t.whatIf.access}
                  </Link>
                </p>
              ) : null}
              <OutputChanges changes={result.outputs} />
              <OtherPolicies others={result.others} />
            </>
          )}
        </div>
      )}
    </Page>
  );
}

/** A policy for a Service that there is, to try the page with. */
function examplePolicy({ snapshot }: Fleet): string {
  const [ref] = [...snapshot.of(Destination)].flatMap(({ spec }) => spec?.kubeService?.ref ?? []);
  const { name = "reviews", namespace = "bookinfo", clusterName = "cluster-1" } = ref ?? {};
  const { apiVersion, kind } = TrafficPolicy;
  return yamlText({
    apiVersion,
    kind,
    metadata: { name: `${name}-timeout`.slice(0, 63), namespace: "gloo-mesh" },
    spec: {
      destinationSelector: [{ kubeServiceRefs: { services: [{ name, namespace, clusterName }] } }],
      policy: { requestTimeout: "2s" },
    },
  });
}

function isAboutAccess({ before, after }: OutputChange): boolean {
  return (after ?? before)?.kind === "AuthorizationPolicy";
}

function originalOf(fleet: Fleet, of: string | undefined): Resource | undefined {
  const ref = of === undefined ? undefined : refOfPath(of);
  return ref === undefined ? undefined : objectOf(fleet, ref);
}

/** What of a policy somebody would edit. */
function editable({ apiVersion, kind, metadata: { name, namespace }, ...rest }: Resource): string {
  const { spec } = rest as { readonly spec?: unknown };
  return yamlText({ apiVersion, kind, metadata: { name, namespace }, ...(spec === undefined ? {} : { spec }) });
}
