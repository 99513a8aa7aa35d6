"""The words of complaints, one table per language: what `complaints` looks for. Pure data.

Each table has a `gate`, which any complaint of the language passes and which is tried first, words
that take the blame out of a clause, and its rules by the phrase the digest prints. Patterns meet
lower-case text with single spaces and ASCII apostrophes; none may repeat without a bound what
another part of it could match, so that the time stays linear.
"""

from __future__ import annotations

from attrs import frozen

CLAUSE = ".!?,;:¿¡。！？，、；：("
"""What ends a clause."""


@frozen(eq=False)
class Table:
    """The rules of a language, as sources of patterns: they are compiled when a prompt first needs them."""

    gate: str
    blameless: str
    rules: dict[str, str]


# A clause begins here.
_START = rf"(?:^|[{CLAUSE}] ?(?:(?:no|nope|nein|non|and|but|und|et|y|please) )?)"


_IT = r"\b(?:it|that|this|they|these|those|everything|all of it)"
_FEW = r"(?: [\w']+){0,2}"  # adverbs
_ENGLISH = Table(
    r"\b(?:it|that'?s?|this|they|these|those|every\w+|all|you\w*|i|still|same|wrong|broken|not"
    r"|\w+n'?t|stop|again|nobody|many|worse)\b",
    r"\b(?:if|when|whenever|whether|unless|until|in case|how do|how can|what is|what's|where"
    r"|anything|nothing|users?|customers?|people|i'm|i am|not sure|check that|test that)\b",
    {
        "doesn't work": rf"(?:{_IT}|{_START}|\bstill|\byour{_FEW}){_FEW} ?\b(?:doesn'?t|does not"
        rf"|do not|don'?t"
        r"|didn'?t|did not|isn'?t|is not|aren't|not) work(?:ing)?\b",
        "still failing": r"\bstill (?:not\b|fail(?:s|ing)?\b|broken\b|wrong\b|crash|throw|red\b"
        r"|the same (?:error|problem|result))"
        r"|\bstill (?:get|getting|see|seeing) the same\b|\bsame (?:error|problem"
        r"|mistake) (?:again|as before)",
        "wrong": rf"{_IT}(?:'?s| is| are| was| were| looks?| seems?){_FEW} (?:wrong|incorrect"
        rf"|not right|not correct)\b"
        rf"|{_START}wrong\b|\byou(?:'re| are| were| got| did| have| had| used| changed| edited"
        rf"| picked){_FEW} wrong\b"
        r"|\bwrong again\b",
        "broken": rf"{_IT}(?:'?s| is| are){_FEW} (?:broken|worse)\b|\bbroken again\b"
        rf"|\bbroken (?:now|since you|by your)\b",
        "again": r"\b(?:loses|drops|forgets|misses|fails|crashes|breaks|hangs"
        r"|ignores)(?: \w+){0,3} again\b",
        "why did you": r"\bwhy (?:did|do|are|were|have|would|didn't|don't|aren't) you\b"
        r"|\bwhy you (?:did|didn't|are)\b",
        "that's not": r"\b(?:that'?s|that is|this is|it'?s|this isn't|that isn't|it isn't"
        r"|that was)(?: still)? ?(?:not )?"
        r"(?<=not |n't )(?:what|right|correct|how|the (?:right|one|file|point|same)|it\b"
        r"|good enough|true)"
        rf"|{_START}that'?s not\b(?! (?:a |an )?(?:problem|issue|necessary|needed|urgent"
        rf"|important|bad|required))",
        "not what i": r"\bnot (?:what|how|where|the \w+) i\b",
        "you broke": r"(?<!did )(?<!can )(?<!could )(?<!would )(?<!should )(?<!thing )\byou(?:'ve"
        r"| have| had)?"
        r"(?: (?:just|also|again|still|completely|totally|simply|only|even|accidentally))?"
        r" (?:broke|deleted|removed|forgot|forgotten|ignored|misunderstood|missed|overwrote"
        r"|overwritten|ruined|skipped"
        r"|claimed|lied|messed|misread|invented|hallucinated|hardcoded|did it again"
        r"|did that again|did not|didn'?t"
        r"|never|keep \w+ing|kept \w+ing|were supposed|were not supposed|weren't supposed"
        r"|made (?:it|that|this) worse)\b",
        "your change": r"\byour(?: (?:last|latest|new|previous|own))? (?:fix|change|changes"
        r"|commit|patch|code|solution|refactoring"
        r"|edit|version|test|tests)(?: \w+)? (?:broke|breaks?|fails?|crash(?:es)?|ruined|caused"
        r"|made)\b"
        r"|\b(?:since|because of) your\b|\bafter your (?:last )?(?:fix|change|commit|edit)"
        r"|\byou (?:wrote|added|made|generated)(?: just)? (?:never|fails?|crash|doesn|does not"
        r"|breaks?|is (?:wrong|broken|useless))",
        "i told you": r"\bi(?: have|'ve| had)?(?: already| just| clearly| explicitly"
        r"| specifically)? (?:told you|said|asked (?:you|for))\b",
        "i didn't ask": r"\bi(?: did not|'d not| didn'?t| never)(?: ask| tell you| want| say"
        r"| told you| asked| wanted| said)\b"
        r"|\bi (?:only|just) (?:wanted|asked)\b|\bnobody asked\b|\bhow many times\b|\bi already\b",
        "stop": rf"{_START}(?:please )?(?:just )?stop (?:guessing|doing|adding|changing|making"
        rf"|rewriting|ignoring|inventing"
        r"|hallucinating|touching|deleting|apologi[sz]ing|asking|pretending)\b",
        "did you even": r"\b(?:did|do|have) you (?:even|actually|really)\b",
        "worse": r"\b(?:made|makes|making) (?:it|that|this|things|everything) (?:\w+ )?worse\b"
        r"|\bworse than before\b",
    },
)
_GERMAN = Table(
    r"\b(?:du|deine?[mrn]?|das|es|dies|alles|ich|nicht|immer|noch|weiterhin|nach|falsch\w*|kaputt"
    r"|stimmt|hör|\w*schlimm\w+)\b",
    r"\b(?:wenn|falls|sobald|ob|sofern|was ist|was stimmt|wie|nichts|prüfe|nutzer|kunden)\b",
    {
        "falsch": rf"\b(?:das|es|dies|alles)(?: ist| war|'s)(?: [\wäöüß]+){{0,3}} (?:falsch"
        rf"|kaputt|verkehrt|nicht (?:richtig|korrekt))\b"
        rf"|{_START}(?:falsch|falsche[rs]?|kaputt)\b|\bist alles kaputt\b|\bstimmt (?:so |doch "
        rf"|immer noch |noch immer )*nicht\b",
        "immer noch": r"\b(?:immer noch|noch immer|weiterhin|nach wie vor) (?:nicht|kaputt|falsch"
        r"|fehl\b|rot\b|de[rn]selbe|das(?:selbe| gleiche)"
        r"|d(?:ie|er|en)(?:selbe)? ?gleiche|einen fehler)|\b(?:funktioniert|geht|läuft"
        r"|klappt) (?:so |leider |jetzt |auch )*(?:immer noch|noch immer)",
        "warum hast du": r"\b(?:warum|wieso|weshalb|wozu) [\wäöüß]+st du\b",
        "du hast": r"(?<!ob )(?<!was )\bdu hast (?:doch |mal |ja )?(?:schon )?wieder\b"
        r"|\bdu hast (?:die|das|den) falsche"
        r"|\bdu hast(?: [^ .!?,]+){0,6} (?:gelöscht|vergessen|überschrieben|kaputt|ignoriert"
        r"|übersehen|missverstanden|zerstört|entfernt)"
        r"|\bdu hast (?:vergessen|mich (?:falsch|nicht) verstanden)|\bdu (?:ignorierst|vergisst"
        r"|solltest doch|machst (?:schon )?wieder|hörst nicht)\b",
        "nicht was ich": r"\bnicht (?:das|der|die|so)?,? ?(?:was|wie|worum) ich\b|\bso (?:war"
        r"|hatte|habe)(?: ich)? (?:das|es) nicht\b"
        r"|\bdas (?:habe?|hatte|wollte) ich (?:so |dir )?nicht\b|\bich wollte (?:doch )?(?:nur"
        r"|etwas anderes)\b|\bnicht gemeint\b",
        "ich habe gesagt": r"\bich (?:habe?|hatte) (?:es |dir |doch |ja |schon |bereits |dich "
        r"|dir doch )*(?:gesagt|(?:nicht |doch )?gebeten|nie|nicht verlangt)\b"
        r"|\bwie oft (?:muss|soll) ich\b",
        "deine änderung": r"\bdeine? (?:letzte[rn]? |neue[rn]? )?(?:lösung|änderung|änderungen"
        r"|fix|commit|code|korrektur|patch|version)"
        r" (?:funktionier|geh|läuft|brich|hat|macht|ist falsch|schläg)|\b(?:seit|wegen|durch"
        r"|nach) deine[mrn]\b",
        "hör auf": rf"{_START}hör (?:bitte |endlich |doch )*auf\b",
        "überhaupt": r"\bhast du\b[^.!?]{0,40}\b(?:überhaupt|wirklich)\b",
        "schlimmer": r"\b(?:noch schlimmer|schlimmer als|verschlimmbessert)\b",
    },
)
_FRENCH = Table(
    r"\b(?:pas|faux|cassée?s?|est|toujours|même|échoue(?:nt)?|tu|t|vous|je|j|combien|mauvaise?"
    r"|arrêtez?|ta|ton|tes|votre|vos|pire|rien)\b",
    r"\b(?:si|s'il|quand|lorsque|qu'est-ce qui|rien de|comment|utilisateurs?|clients?|vérifie)\b",
    {
        "ce n'est pas": r"\b(?:ce n'est|c'est|ce n'était|c'était)(?: toujours"
        r"| vraiment)? pas(?: du tout)? (?:ce qu|bon\b|ça|correct|juste|demandé|comme)"
        rf"|\bpas ce qu(?:e je|e j'|'il fallait)|{_START}pas comme ça\b",
        "c'est faux": r"\b(?:c'est|tout est|c'était)(?: toujours| encore| complètement"
        r"| totalement| maintenant)* (?:faux|cassé|incorrect|pire|n'importe quoi)\b",
        "toujours pas": r"\btoujours (?:pas|cassée?s?|fauss?e?|rouges?|en erreur|en échec"
        r"|la même erreur)\b"
        r"|\béchou(?:e|ent) (?:toujours|encore)\b|\bmême erreur qu'avant\b",
        "pourquoi as-tu": r"\bpourquoi (?:n')?(?:as-tu|tu\b|t'as|avez-vous|vous\b"
        r"|est-ce que (?:tu|vous)|fais-tu|es-tu)",
        "tu as": r"(?<!que )(?<!si )\b(?:tu as|t'as|vous avez) (?:encore |complètement |aussi "
        r"|tout )*(?:cassé|oublié|supprimé|effacé|écrasé|ignoré|raté|perdu"
        r"|mal |modifié (?:le mauvais|la mauvaise))|\b(?:tu as|t'as|vous avez) encore\b"
        r"|\b(?:tu n'as|vous n'avez|t'as) pas\b"
        r"|\btu (?:t'es trompée?|te trompes|ignores|oublies|continues (?:à|de)|n'écoutes)\b"
        r"|\bvous vous êtes trompé",
        "je t'ai dit": r"\bje (?:t'|vous )(?:ai|avais)(?: déjà| pourtant| bien)? (?:dit"
        r"|demandé)\b|\bj'(?:ai|avais) (?:déjà |pourtant |bien )?(?:dit|demandé) (?:de|que|du"
        r"|un)\b"
        r"|\bcombien de fois\b",
        "je n'ai pas demandé": r"\bje n'(?:ai|avais) (?:jamais|pas|rien) (?:demandé|dit|voulu)\b"
        r"|\bje voulais (?:juste|seulement)\b",
        "mauvais": rf"{_START}mauvaise? (?:fichier|branche|endroit|fonction|réponse|version"
        rf"|dossier)\b",
        "arrête": rf"{_START}arrêtez? (?:de |d')(?:deviner|inventer|changer|faire|toucher|ajouter"
        rf"|modifier|ignorer|supprimer)",
        "ta correction": r"\b(?:ta|ton|tes|votre|vos) (?:dernière? )?(?:correction|solution"
        r"|modification|modif|version|code|commit|correctif|changement)s?"
        r" (?:ne\b|n'|échoue|casse|plante|a cassé|fait planter)|\b(?:depuis|à cause de"
        r"|après) (?:ta|ton|tes|votre|vos)\b",
        "pire": r"\bpire qu|\bplus rien ne (?:marche|démarre|fonctionne|compile)",
    },
)
_SPANISH = Table(
    r"\b(?:no|qué|está\w*|es|siguen?|todavía|aún|mismo|otra|nuevo|has|habéis|volviste|te|os|le"
    r"|cuántas|solo|\w+[ai]ste|me|tus?"
    r"|equivocad[oa]|incorrect[oa]|dejad?|para)\b",
    r"\b(?:si|cuando|qué está|qué hay|cómo|nada|usuarios?|clientes?|comprueba)\b",
    {
        "no es lo que": r"\bno (?:es|era|fue) (?:eso )?(?:lo que|así|correcto|eso)\b",
        "está mal": rf"(?:{_START}|\b(?:eso|esto|todo|todavía|aún|sigue) )(?:está"
        rf"|estaba) (?:todo |muy )?(?:mal|roto|rota)\b|\bno está bien\b|\bes incorrecto\b",
        "por qué has": r"\bpor qué (?:no )?(?:me |lo |la |te )?(?:has|estás|sigues|haces|hiciste"
        r"|borras|cambias|\w+(?:aste|iste))\b",
        "sigue": r"\b(?:sigue|siguen) (?:sin|fallando|rot[oa]s?|igual|mal|dando|en rojo)\b"
        r"|\b(?:todavía|aún) (?:no (?:funciona|va|compila|pasa|arranca)|falla)"
        r"|\bmismo error (?:de|que) antes\b",
        "otra vez": r"\b(?:otra vez|de nuevo) (?:has|lo has|me has|estás|lo mismo|\w+(?:aste"
        r"|iste))\b|\bhas vuelto a\b|\bvolviste a\b",
        "te dije": r"\b(?:te|os|le) (?:dije|he dicho|había dicho|pedí|he pedido|había pedido)\b"
        r"|\bno (?:te )?pedí\b|\bcuántas veces\b|\bsolo quería\b",
        "has roto": r"\b(?:rompiste|estropeaste|empeoraste|ignoraste|olvidaste|omitiste"
        r"|inventaste|borraste|eliminaste|sobrescribiste)\b"
        r"|\b(?:has|habéis) (?:roto|estropeado|empeorado|ignorado|olvidado|equivocado"
        r"|entendido mal|borrado|eliminado|sobrescrito|inventado)\b"
        r"|\bte equivocaste\b|\bestás (?:ignorando|inventando|equivocad)|\bme entendiste mal\b"
        r"|\bno (?:ejecutaste|corriste|leíste|probaste|hiciste|seguiste|entendiste)\b",
        "tu cambio": r"\btus? (?:últim[oa] )?(?:solución|cambios?|código|arreglo|commit"
        r"|corrección|versión) (?:no |falla|rompe|sigue|ha roto)"
        r"|\b(?:desde|por|después de) tu (?:último )?(?:cambio|commit|arreglo)",
        "equivocado": rf"{_START}(?:archivo|fichero|rama|función|carpeta) (?:equivocad"
        rf"|incorrect)[oa]\b|{_START}así no\b",
        "deja de": rf"{_START}(?:dejad? de|para de) (?:adivinar|inventar|cambiar|hacer|tocar"
        rf"|añadir|ignorar|borrar)",
    },
)
_JAPANESE = Table(
    r"[\u3041-\u30ff]",
    r"どこ|場合|なければ|かどうか|私の|ときは|ユーザー|報告|すみません",
    {
        "違います": rf"{_START}(?:いや|いいえ|だから|それは|これは|全然|全く)?違(?:う(?!\w)|うよ|います)|と(?:は|は全然)?違(?:う|います"
        rf"|って)|そう(?:じゃな|ではな)|そういう(?:意味|こと)(?:じゃ|では)",
        "なぜ": r"(?:なぜ|なんで|どうして)[^はが。！？]{0,40}(?:た|てる|ている|た)(?:の|ん)",
        "まだ": r"まだ(?:動か|動き|直って|直ら|失敗|壊れ|エラー|でき(?:な|ま)|だめ|ダメ|同じ|落ち|出)|がまだ(?:失敗|出|動)|同じエラー(?:です|が出)",
        "また": r"また[^、。！？]{0,30}(?:しましたね|ましたね|してる|しています|ってる|やった|消した|壊した|戻って)",
        "言った": r"(?:と|って)(?:言った|言いました|言ってる|言っている|伝えた|お願いした)|何度も(?:言|お願い)|言った(?:はず|よね|でしょ)",
        "直っていません": r"(?:直って|治って|解決して|反映されて|改善して|なって)い?(?:な(?:い|く)|ません)|^(?:それ|これ|やっぱり"
        r"|全然)?(?:でも)?動(?:かない|きません)",
        "勝手に": r"勝手に|頼んで(?:い)?(?:な|ま)|(?:お願い|指示)して(?:い)?(?:な|ま)せ?|余計な",
        "間違っています": r"間違って(?:い)?(?:ます|る)(?!か|場合|なら|とき)|間違えて(?:い)?(?:ます|る)",
        "しないで": r"(?:推測|無視|適当に|ごまか)[^、。！？]{0,6}(?:しないで|さないで)",
        "忘れて": r"(?:忘れ|抜け|漏れ)て(?:い)?(?:ます|る)",
        "壊れた": r"(?:あなた|君|さっき)の(?:変更|修正|コミット)[^。！？]{0,12}(?:せい|壊)|壊し(?:た|ました)|(?:前|さっき)より(?:悪|ひど)"
        r"|悪化",
        "本当に": r"本当に[^、。！？]{0,20}(?:ましたか|たの|たんですか)",
    },
)
_CHINESE = Table(
    r"^[^\u3041-\u30ff]*[\u4e00-\u9fff][^\u3041-\u30ff]*\Z",
    r"哪里|是不是|如果|什么不|时候|用户|我(?:搞|弄|记|写|看)?错|我的错|吗|的话",
    {
        "不对": rf"{_START}(?:这|那|这样|这个|结果|还是|完全|这里|根本)?(?:是|也|完全|还是|就)?不对|{_START}(?:又|还是)?错了",
        "不是我要的": r"不是我(?:要|想|说|的意思)|不是(?:这个|那个)意思|我(?:要|想要|说)的(?:不是|是)|我只(?:要|想|让)",
        "为什么你": r"你为(?:什么|何)|为(?:什么|何)你|你怎么(?:又|把|会|没|能|不)|你干(?:嘛|吗)|怎么又",
        "还是不行": r"(?:还是|仍然|依然|依旧|仍旧)(?:会)?(?:不行|不能|不对|没|报错|失败|有问题|一样|错|坏|出错|跑不|不工作)|还没(?:修|解决|好)"
        r"|一样的错误",
        "说过": r"我(?:已经|早就|早|都)?(?:说过|说了|讲过|告诉过)|都说了|说了(?:多少|好几)|告诉过你|跟你说",
        "你又": r"你又|你(?:把|将)[^，。！？]{1,30}(?:坏|删|覆盖|丢|没了|乱)|(?:搞|弄|改)坏了",
        "你忘了": r"你(?:忘|漏|根本|完全|忽略|无视|理解错|误解|搞错|弄错|改错|没有?(?:按|跑|看|改|读|测|听|照|更新|运行|理解))",
        "改错": r"(?:改|删|选|用|写|理解)错(?:了|文件|分支|地方)",
        "没让你": r"没(?:有)?(?:让|叫|要求)你|谁让你",
        "更糟": r"更(?:糟|差|坏)|越改越",
        "别乱": r"(?:别|不要)(?:再)?(?:瞎|乱|猜)",
        "你的修改": r"你的(?:修改|改动|代码|方案|提交|修复)[^，。！？]{0,20}(?:不能|不行|没用|坏|报错|有问题|失败|不对)",
    },
)
TABLES = {
    "en": _ENGLISH,
    "de": _GERMAN,
    "fr": _FRENCH,
    "es": _SPANISH,
    "ja": _JAPANESE,
    "zh": _CHINESE,
}
