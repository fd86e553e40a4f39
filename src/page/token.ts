/** The token that allows steering: once in the address, then stored until the tab is closed. */

const KEY = 'corella-token';

/** Removes it from the address, where it would be visible and bookmarked. */
export function takeToken(): void {
  const found = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(KEY, decodeURIComponent(found[1]));
  history.replaceState(undefined, '', location.pathname);
}

export const token = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined;
export const setToken = (text: string): void => {
  sessionStorage.setItem(KEY, text.trim());
};
