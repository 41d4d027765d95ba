import type { Resource } from "@isthmus/core";
import { Loading } from "../components/Loading.tsx";
import { PartialNote } from "../components/PartialNote.tsx";
import { t } from "../strings.ts";
import { Problems } from "../summaries/ObjectErrors.tsx";
import { useFleetTranslation } from "../translation/useFleetTranslation.ts";
import { useWithoutPolicy } from "../translation/useWithoutPolicy.ts";
import { OutputChanges } from "./OutputChanges.tsx";

/** Objects in clusters as they would be without a policy, and as they are with it. */
export function BeforeAndAfter({ policy }: { readonly policy: Resource }) {
  const base = useFleetTranslation();
  const changes = useWithoutPolicy(base, policy);
  return (
    <>
      <p className="note">{t.generated.comparedWhy}</p>
      <PartialNote text="translated" />
      {base === undefined || base.unlike === 0 ? null : <Problems warnings={[t.effect.unlike(base.unlike)]} />}
      {changes === undefined ? (
        <Loading />
      ) : (
        <OutputChanges changes={changes} title={t.generated.compared} none={t.generated.comparedNone} />
      )}
    </>
  );
}
