/** A request that cannot be done; the message is for the person who asked. */
export class OptionError extends Error {}

/** The import cannot go on. What is accepted stays; running it again goes on from there. */
export class StoppedError extends Error {}
