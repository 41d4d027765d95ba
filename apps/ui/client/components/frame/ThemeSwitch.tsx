import { type MantineColorScheme, useMantineColorScheme } from "@mantine/core";
import { t } from "../../strings.ts";

const NEXT: Readonly<Record<MantineColorScheme, MantineColorScheme>> = { auto: "light", light: "dark", dark: "auto" };

/** Changes between the system's colours, light and dark. */
export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <button
      type="button"
      className="button small"
      aria-label={`${t.theme.label}: ${t.theme[colorScheme]}`}
      onClick={() => setColorScheme(NEXT[colorScheme])}
    >
      <svg className="theme-icon" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6" />
        <path d="M8 2a6 6 0 0 1 0 12Z" />
      </svg>
      <span className="theme-text">{t.theme[colorScheme]}</span>
    </button>
  );
}
