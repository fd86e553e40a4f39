/** The machines that rooms are prepared for, slowest first. Whatever lists backends, or switches over them, follows this. */
export const backendKinds = ['reference', 'cpu', 'cuda'] as const;
export type BackendKind = (typeof backendKinds)[number];

/** What a user may ask for. */
export const backendChoices = ['auto', ...backendKinds] as const;
export type BackendChoice = (typeof backendChoices)[number];
