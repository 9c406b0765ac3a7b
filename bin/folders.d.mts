type Env = Readonly<Record<string, string | undefined>>;

export function baseDir(env: Env, variable: string, fallback: string): string;
export function cacheDir(env?: Env): string;
