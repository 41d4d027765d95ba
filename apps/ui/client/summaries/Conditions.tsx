import type { Resource } from "@isthmus/core";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { When } from "../components/Times.tsx";
import { conditionStatus, conditionsOf } from "../model/status.ts";
import { t } from "../strings.ts";

/** The conditions of an object's status: those that say what is wrong first, then in their own order, for policies how far they are. A message has all of the width, so that it can be read in a narrow panel too. */
export function Conditions({ object }: { readonly object: Resource }) {
  const conditions = conditionsOf(object).map((condition) => ({ ...condition, shown: conditionStatus(condition) }));
  if (conditions.length === 0) return null;
  const isBad = ({ shown }: (typeof conditions)[number]) => shown.tone === "bad";
  return (
    <Section title={t.objects.conditions}>
      <ul className="conditions" aria-label={t.objects.conditions}>
        {[...conditions.filter(isBad), ...conditions.filter((one) => !isBad(one))].map(
          ({ type, reason = "", message = "", lastTransitionTime, shown }) => (
            <li key={type}>
              <p className="condition-head">
                <strong>
                  <Name text={type} isWrapped />
                </strong>
                <StatusMark status={shown} />
                {reason === "" ? null : (
                  <span className="muted">
                    <Name text={reason} isWrapped />
                  </span>
                )}
                <span className="muted">
                  <When time={lastTransitionTime} />
                </span>
              </p>
              {message === "" ? null : (
                <p>
                  <Name text={message} isWrapped />
                </p>
              )}
            </li>
          ),
        )}
      </ul>
    </Section>
  );
}
