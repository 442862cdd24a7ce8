/**
 * What Node gets before each program that a test starts. These processes live for a few seconds: to compile their code for speed takes more
 * of the processor than it saves, a sixth of the start of an API.
 */
export const NODE_ARGUMENTS: readonly string[] = ['--no-turbofan'];
