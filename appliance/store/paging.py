"""How pages call the way to the rest of a list: "next", "load more", page numbers, in many languages."""

import re

_NEXT_WORDS = (
    "next, next page, go to next page, older, older posts, older entries, more results, forward, next results, "
    "weiter, nächste, nächste seite, vor, vorwärts, ältere beiträge, ältere einträge, "
    "suivant, suivante, page suivante, suivants, articles plus anciens, "
    "siguiente, página siguiente, siguientes, entradas antiguas, adelante, "
    "próxima, próximo, próxima página, seguinte, página seguinte, avançar, "
    "avanti, successivo, successiva, pagina successiva, seguente, prossima, prossimo, "
    "volgende, volgende pagina, verder, ouder, nästa, nästa sida, äldre, næste, næste side, neste, neste side, "
    "seuraava, seuraava sivu, następna, następny, następna strona, dalej, další, další stránka, následující, "
    "ďalší, ďalšia, következő, következő oldal, înainte, următoarea, următorul, pagina următoare, "
    "следующая, следующая страница, следующий, далее, вперед, вперёд, дальше, наступна, далі, напред, следваща, "
    "επόμενη, επόμενο, sonraki, sonraki sayfa, ileri, التالي, الصفحة التالية, הבא, העמוד הבא, अगला, "
    "次へ, 次のページ, 次, 下一页, 下一頁, 下页, 下頁, 后页, 다음, 다음 페이지, ถัดไป, tiếp, trang sau, tiếp theo, "
    "berikutnya, selanjutnya, susunod"
)
_PREVIOUS_WORDS = (
    "previous prev newer back first last zurück vorherige précédent anterior indietro precedente vorige föregående "
    "forrige poprzednia předchozí назад предыдущая 前へ 上一页 이전 önceki"
)
_ARROW_SIGNS = "› » > → ≫ >> ❯ ▶ ⟩ 〉 ➔ ➜ ➡"
_MORE = re.compile(
    r"(?:load|show|see|view|get|fetch|display) (?:\w+ )?more\b.*|more (?:results|items|products|posts|entries|articles)"
    r"|(?:mehr|weitere)(?: \w+)? (?:anzeigen|laden|zeigen|ansehen)|weitere ergebnisse"
    r"|(?:afficher|voir|charger)(?: \w+)? plus\b.*|plus de résultats"
    r"|(?:mostrar|cargar|ver)(?: \w+)? más\b.*|(?:carregar|mostrar|ver) mais\b.*"
    r"|(?:carica|mostra|vedi)(?: \w+)? (?:altri|altro|di più)\b.*|(?:toon|laad|bekijk) meer\b.*"
    r"|(?:visa|ladda) fler\b.*|(?:vis|hent) flere\b.*|(?:näytä|lataa) lisää\b.*"
    r"|(?:pokaż|załaduj|wyświetl) więcej\b.*|(?:načíst|zobrazit) další\b.*|(?:показать|загрузить) ещ[её]\b.*"
    r"|daha fazla\b.*|もっと見る|さらに表示|加载更多|显示更多|載入更多|더 ?보기"
    r"|ดูเพิ่มเติม|xem thêm|muat lebih banyak",
    re.IGNORECASE,
)
_NEXT = frozenset(map(str.strip, _NEXT_WORDS.split(",")))
_ARROWS = frozenset(_ARROW_SIGNS.split())
_PREVIOUS = frozenset(_PREVIOUS_WORDS.split())
_DECORATION = "›»>→≫❯▶⟩〉➔➜➡«‹<←…+.: \u00a0"


def says_next(text: str) -> bool:
    """Whether what a link says means the page that follows in a list."""
    text = " ".join(text.split())
    return text in _ARROWS or text.strip(_DECORATION).lower() in _NEXT


def says_more(text: str) -> bool:
    """Whether what a button says means more of the list that stands above it."""
    return _MORE.fullmatch(" ".join(text.split()).strip(_DECORATION)) is not None


def is_paging(text: str) -> bool:
    """Whether what a link says means another page of a list: next, previous, a page number."""
    plain = " ".join(text.split()).strip(_DECORATION).lower()
    return (
        says_next(text)
        or says_more(text)
        or plain in _PREVIOUS
        or re.fullmatch(r"(?:page )?\d{1,4}", plain) is not None
    )
