/** The token that lets one steer: in the address once, then kept for as long as the tab is open. */

const KEY = 'corella-token';

/** Takes it out of the address, where it would be seen and bookmarked. */
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
