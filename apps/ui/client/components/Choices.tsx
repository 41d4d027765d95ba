export interface ChoicesProps<C extends string> {
  /** What is chosen, for those who do not see it. */
  readonly label: string;
  readonly choices: readonly C[];
  readonly chosen: C;
  readonly textOf: (choice: C) => string;
  readonly choose: (choice: C) => void;
}

/** A few buttons of which one is on. */
export function Choices<C extends string>({ label, choices, chosen, textOf, choose }: ChoicesProps<C>) {
  return (
    <div className="choices" role="group" aria-label={label}>
      {choices.map((choice) => (
        <button key={choice} type="button" className="choice" aria-pressed={choice === chosen} onClick={() => choose(choice)}>
          {textOf(choice)}
        </button>
      ))}
    </div>
  );
}
