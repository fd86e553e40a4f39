/** The same words for every command, so that --help is in a group that all of them have. */
export const HELP_OPTION = ['-h, --help', 'show help, with examples'] as const;
