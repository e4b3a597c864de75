# Words that bash completes for tracso. The program itself says which: tracso __complete WORDS.
_tracso() {
  local word text longest=0 i
  local -a words=() texts=()
  COMPREPLY=()
  while IFS=$'\t' read -r word text; do
    case $word in
      :file) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"); compopt -o filenames ;;
      :command) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}") ;;
      *)
        words+=("$word")
        texts+=("$text")
        ((${#word} > longest)) && longest=${#word}
        ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  # Beside others a process number shows what it is; alone it is only inserted.
  if ((${#words[@]} > 1)) && [[ ${COMP_TYPE:-} == 63 ]]; then
    for i in "${!words[@]}"; do
      printf -v word '%-*s  %s' "$longest" "${words[i]}" "${texts[i]}"
      COMPREPLY+=("${word:0:${COLUMNS:-80}}")
    done
  else
    COMPREPLY+=("${words[@]}")
  fi
}
complete -F _tracso tracso
