/** The backends, slowest first. Lists of backends and switches over them follow this list. */
export const backendKinds = ['reference', 'cpu', 'cuda'] as const;
export type BackendKind = (typeof backendKinds)[number];

/** What a user may choose. */
export const backendChoices = ['auto', ...backendKinds] as const;
export type BackendChoice = (typeof backendChoices)[number];
