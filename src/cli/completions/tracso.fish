# Words that fish completes for tracso. The program itself says which: tracso __complete WORDS.
function __tracso_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
        switch $line
            case ':file'
                __fish_complete_path (commandline -ct)
            case ':command'
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end
complete -c tracso -f -a '(__tracso_complete)'
