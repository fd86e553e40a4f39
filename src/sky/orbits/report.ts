/** Orbital elements used since the last report: apart from the orbits, so that reporting does not load them. */

/** A satellite, as far as it is reported. */
interface Reported {
  readonly name: string;
  readonly path: string;
  readonly orbits: readonly { readonly limits: { readonly warned: number } }[];
}

/** Elements used since the last report. */
export interface OrbitReport {
  readonly paths: readonly string[];
  readonly satellites: number;
  /** Days between the elements' epochs and the data. */
  readonly leastAgeDays: number;
  readonly mostAgeDays: number;
  /** Older than the warning limit. */
  readonly old: readonly string[];
  /** Not used, because they are too old or the satellite has decayed. */
  readonly leftOut: readonly string[];
}

const ages = new Map<Reported, number>();
const leftOut = new Set<Reported>();

export function reportUse(satellite: Reported, ageDays: number): void {
  ages.set(satellite, Math.max(ageDays, ages.get(satellite) ?? 0));
}

/** How many were left out and used since the last report. */
export function reportLeftOut(satellite: Reported): { readonly leftOut: number; readonly used: number } {
  leftOut.add(satellite);
  return { leftOut: leftOut.size, used: ages.size };
}

/** What was used since the last call; undefined if nothing was. */
export function takeOrbitReport(): OrbitReport | undefined {
  const used = [...ages];
  const missing = [...leftOut].filter((one) => !ages.has(one));
  ages.clear();
  leftOut.clear();
  if (used.length + missing.length === 0) return undefined;
  const days = used.map(([, age]) => age);
  return {
    paths: [...new Set([...used.map(([{ path }]) => path), ...missing.map(({ path }) => path)])],
    satellites: used.length,
    leastAgeDays: Math.min(...days),
    mostAgeDays: Math.max(...days),
    old: used.filter(([{ orbits }, age]) => age > orbits[0].limits.warned).map(([{ name }]) => name),
    leftOut: missing.map(({ name }) => name),
  };
}
