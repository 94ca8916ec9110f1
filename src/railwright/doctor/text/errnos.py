"""
What the C library says for the errors that matter here, in the languages that logs are met in; folded to lower case.

Each value is a list of alternatives for `signals.says`: the English words, the number as tools print it, and the
translations. Source: messages of glibc 2.36 (libc.mo of each language), read 2026-11-30.
"""

EINVAL = (
    "invalid argument|~einval~|das argument ist ungültig|argument invalide|argumento inválido|argomento non valido"
    "|無効な引数です|无效的参数|부적절한 인수|недопустимый аргумент|zły argument|nepřípustný argument"
    "|ongeldig argument|ogiltigt argument"
)
ENOMEM = (
    "cannot allocate memory|can't allocate memory|~enomem~|nicht genügend hauptspeicher verfügbar"
    "|ne peut allouer de la mémoire|no se pudo asignar memoria|impossibile allocare memoria"
    "|não foi possível alocar memória|メモリを確保できません|无法分配内存|메모리를 할당할 수 없습니다"
    "|невозможно выделить память|nie można przydzielić pamięci|nelze alokovat paměť"
    "|onvoldoende geheugen beschikbaar|kan inte allokera minne"
)
ENODEV = (
    "no such device|~enodev~|kein passendes gerät gefunden|aucun périphérique de ce type|no existe el dispositivo"
    "|nessun device corrisponde|dispositivo inexistente|そのようなデバイスはありません|没有那个设备|그런 장치가 없음"
    "|нет такого устройства|nie ma takiego urządzenia|takové zařízení neexistuje|onjuist apparaat|enheten finns inte"
)
EBUSY = (
    "device or resource busy|resource busy|~ebusy~|is in use|das gerät oder die ressource ist belegt|wird verwendet"
    "|périphérique ou ressource occupé|dispositivo o recurso ocupado|dispositivo o risorsa occupata"
    "|dispositivo ou recurso está ocupado|デバイスもしくはリソースがビジー状態です|设备或资源忙|장치나 자원이 동작 중"
    "|устройство или ресурс занято|urządzenie lub zasoby zajęte|zařízení nebo zdroj jsou používány"
    "|apparaat of hulpbron is bezig|enhet eller resurs upptagen"
)
ENOSPC = (
    "no space left on device|~enospc~|auf dem gerät ist kein speicherplatz mehr verfügbar"
    "|aucun espace disponible sur le périphérique|no queda espacio en el dispositivo|spazio esaurito sul device"
    "|não há espaço disponível no dispositivo|デバイスに空き領域がありません|设备上没有空间|장치에 남은 공간이 없음"
    "|на устройстве не осталось свободного места|brak miejsca na urządzeniu|na zařízení není volné místo"
    "|geen ruimte meer over op apparaat|enheten är full"
)
EPERM = (
    "operation not permitted|permission denied|~eperm~|~eacces~|die operation ist nicht erlaubt|keine berechtigung"
    "|opération non permise|permission non accordée|operación no permitida|permiso denegado|operazione non permessa"
    "|operação não permitida|permissão negada|許可されていない操作です|許可がありません|不允许的操作|权限不够"
    "|명령을 허용하지 않음|операция не позволена|отказано в доступе"
)
EFAULT = (
    "bad address|~efault~|ungültige adresse|mauvaise adresse|dirección incorrecta|indirizzo errato|endereço inválido"
    "|不正なアドレスです|错误的地址|주소가 잘못됨|неправильный адрес|błędny adres"
)
ETIMEDOUT = (
    "connection timed out|timed out|~etimedout~|die wartezeit für die verbindung ist abgelaufen"
    "|connexion terminée par expiration du délai d'attente|expiró el tiempo de conexión|connessione scaduta"
    "|tempo esgotado para conexão|接続がタイムアウトしました|连接超时|연결 시간 초과|время ожидания соединения истекло"
)
ENOTSUP = (
    "operation not supported|not supported|protocol not supported|~enotsup~|~eopnotsupp~|~eprotonosupport~"
    "|die operation wird nicht unterstützt|das protokoll wird nicht unterstützt|opération non supportée"
    "|protocole non supporté|la operación no está soportada|protocolo no soportado|operazione non supportata"
    "|operação sem suporte|サポートされていない操作です|不支持的操作|不支持的协议|명령을 지원하지 않음"
    "|неподдерживаемая операция|протокол не поддерживается"
)
ENOENT = (
    "no such file or directory|~enoent~|datei oder verzeichnis nicht gefunden|aucun fichier ou dossier de ce type"
    "|no existe el fichero o el directorio|file o directory non esistente|arquivo ou diretório inexistente"
    "|そのようなファイルやディレクトリはありません|没有那个文件或目录|그런 파일이나 디렉터리가 없습니다|нет такого файла или каталога"
)
EKEYREJECTED = (
    "key was rejected by service|unavailable key|required key not available|module verification failed|loading of unsigned module"
    "|module is not signed|~ekeyrejected~|~enokey~|der schlüssel wurde von dienst zurückgewiesen"
    "|la clé a été rejetée par le service|la clave fue rechazada por el servicio|キーがサービスによって拒否されました"
    "|键值被服务所拒绝|서비스가 키를 거부했습니다|ключ был отвергнут службой"
)
ENOEXEC = (
    "exec format error|invalid module format|~enoexec~|fehler im format der programmdatei|erreur de format pour exec()"
    "|formato de ejecutable incorrecto|実行形式エラー|可执行文件格式错误|ошибка формата выполняемого файла"
)
EEXIST = (
    "file exists|~eexist~|die datei existiert bereits|le fichier existe|el fichero ya existe|file già esistente"
    "|arquivo existe|ファイルが存在します|文件已存在|파일이 있습니다|файл существует"
)
EHOSTUNREACH = (
    "no route to host|network is unreachable|~ehostunreach~|~enetunreach~|keine route zum zielrechner"
    "|aucun chemin d'accès pour atteindre l'hôte cible|não há rota para o host|ホストへの経路がありません"
    "|没有到主机的路由|호스트로 갈 루트가 없음|нет маршрута до узла"
)
ECONNREFUSED = (
    "connection refused|~econnrefused~|verbindungsaufbau abgelehnt|connexion refusée|conexión rehusada"
    "|connessione rifiutata|conexão recusada|接続を拒否されました|拒绝连接|연결이 거부됨|в соединении отказано"
)
