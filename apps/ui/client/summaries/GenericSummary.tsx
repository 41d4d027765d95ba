import { type Resource, resourceKeyOf } from "@isthmus/core";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { parentsOf } from "../model/parents.ts";
import { t } from "../strings.ts";
import { Conditions } from "./Conditions.tsx";
import { ObjectFacts } from "./ObjectFacts.tsx";

/** Of a kind that has no summary of its own: why it exists where it is generated, its conditions, its labels. */
export function GenericSummary({ object }: { readonly object: Resource }) {
  const parents = parentsOf(object);
  return (
    <>
      {parents.length === 0 ? null : (
        <Section title={t.objects.generatedTitle} note={t.objects.generatedParents}>
          <ul className="links">
            {parents.map((parent) => (
              <li key={resourceKeyOf(parent)}>
                <ObjectLink to={parent} hasKind />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Conditions object={object} />
      <Section title={t.clusters.about}>
        <ObjectFacts object={object} />
      </Section>
    </>
  );
}
