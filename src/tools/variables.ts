/** Environment variables that no call may set for its command. */

/**
 * Names that act before the command's first word does (loader, shell start-up), or that are ours. What they would do can be written
 * in the command itself, where policy and people see it. (Told by `SSH_CLIENT` that ssh started it, Debian's bash reads `.bashrc` first. By `OPENSSL_CONF` libcrypto loads
 * what a file names, also into `sort` and `sha256sum` of many systems, which else run nothing but their words.)
 */
const REFUSED =
  /^(?:LD_.*|DYLD_.*|BASH_FUNC_.*|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_LOADABLES_PATH|PS4|IFS|PROMPT_COMMAND|SSH2?_CLIENT|GCONV_PATH|LOCPATH|GLIBC_TUNABLES|OPENSSL_CONF|OPENSSL_ENGINES|OPENSSL_MODULES|COUNTERSIGN_.*|TEMPORAL_.*)$/;

/** Why a variable of this name may not be set, or undefined. */
export const refusedVariable = (name: string): string | undefined =>
  REFUSED.test(name)
    ? `${name} may not be set from outside of the command; if it is needed, set it in the command itself`
    : undefined;
