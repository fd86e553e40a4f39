/** How a product of live data reaches the disk: opened once in a run, for all of its stream epochs. */
export interface Recorder {
  /** Ends the current file; another may follow. */
  close(): Promise<void>;
  /** Nothing follows. */
  end?(): Promise<void>;
  /** Files with data, in time order. */
  readonly paths: readonly string[];
  /** Integrations in files. */
  readonly written?: number;
  /** Integrations that were lost to a full disk or a removed file. */
  readonly unwritten?: number;
  /** Images that were lost to a full disk or a removed file. */
  readonly leftOut?: number;
  /** Images that were drawn or written. */
  readonly drawn?: number;
}
